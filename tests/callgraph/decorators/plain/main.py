def trace(f):
    def wrapper():
        return f()
    return wrapper
@trace
def work():
    pass
work()
