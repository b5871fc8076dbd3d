from .dialects import DIALECTS as DIALECTS
from .dialects import robot_file as robot_file
from .exported import exported as exported
from .into import into as into
from .parameters import identified_parameters as identified_parameters
