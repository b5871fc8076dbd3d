from .program import TorqueProgram as TorqueProgram
from .program import torque_program as torque_program
