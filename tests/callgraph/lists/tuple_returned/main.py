def f():
    pass
def g():
    pass
def pair():
    return f, g
one, two = pair()
two()
