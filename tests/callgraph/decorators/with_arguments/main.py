def repeat(n):
    def decorator(f):
        def wrapper():
            f()
        return wrapper
    return decorator
@repeat(3)
def work():
    pass
work()
