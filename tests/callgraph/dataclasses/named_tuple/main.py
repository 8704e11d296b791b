from typing import NamedTuple
class Pair(NamedTuple):
    one: object
    two: object
def f():
    pass
def g():
    pass
pair = Pair(f, g)
pair.one()
a, b = pair
b()
