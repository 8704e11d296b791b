import sys
def f():
    pass
def g():
    pass
def choose(x):
    if x:
        return f
    return g
choose(1)()
choose(0)()
