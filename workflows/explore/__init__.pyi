from .page import write as write
from .serve import Server as Server
