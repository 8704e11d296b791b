def one(f):
    def first():
        f()
    return first
def two(f):
    def second():
        f()
    return second
@one
@two
def work():
    pass
work()
