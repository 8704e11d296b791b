from . import b
from .b import f
from .sub.c import g
def run():
    b.f()
    f()
    g()
