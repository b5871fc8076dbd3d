from .page import write as write
