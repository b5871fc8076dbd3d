from .dialects import DIALECTS as DIALECTS
from .dialects import RobotFile as RobotFile
from .dialects import dialect_of as dialect_of
from .dialects import robot_file as robot_file
from .parameters import identified_parameters as identified_parameters
