from .impl import f as run
from . import other
