"""Mechanisms from other formats: URDF (trees) and MJCF (loops by equality constraints).

    found = read_file("arm.urdf")
    found.text         # a mechanism file, which reads back to `found.mechanism`

Files are parsed by their own libraries, which are extras. What cannot be represented is refused,
all of it at once and by name; what is left out is listed in the file.
"""
