def f():
    pass
def g():
    pass
def run(x):
    if x:
        h = f
    else:
        h = g
    h()
run(0)
run(1)
