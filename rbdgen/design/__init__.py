"""What is to be made: a robot's file, the choices for it, the limits of its states, the part."""
