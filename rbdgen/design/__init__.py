"""The design: a robot's file, the choices for it, the limits of its states, the part."""
