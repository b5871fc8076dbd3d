from .formats import Imported as Imported
from .formats import read_file as read_file
from .origin import Origin as Origin
from .origin import Part as Part
from .origin import Tie as Tie
