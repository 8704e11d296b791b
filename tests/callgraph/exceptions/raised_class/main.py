class Failure(Exception):
    def __init__(self):
        pass
def f():
    raise Failure
try:
    f()
except Failure:
    pass
