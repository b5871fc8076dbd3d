from .formats import read_file as read_file
