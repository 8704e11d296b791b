def f():
    pass
def g():
    pass
def run(a, b):
    a()
run(b=g, a=f)
