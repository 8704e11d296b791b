def a():
    pass
def b():
    pass
def run(first, /, *, second):
    first()
    second()
run(a, second=b)
