"""The compiler, from a robot's file to a plan of its hardware, which ``rtl`` then makes."""
