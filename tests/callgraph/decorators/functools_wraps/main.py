import functools
def trace(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return f(*args, **kwargs)
    return wrapper
@trace
def work(task):
    task()
def job():
    pass
work(job)
