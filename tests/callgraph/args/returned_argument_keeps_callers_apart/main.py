def same(f):
    return f
def a():
    pass
def b():
    pass
same(a)()
def other():
    same(b)()
other()
