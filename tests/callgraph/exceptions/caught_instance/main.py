class Failure(Exception):
    def __init__(self):
        super().__init__()
    def show(self):
        pass
def f():
    raise Failure()
try:
    f()
except Failure as failure:
    failure.show()
