class A:
    def __eq__(self, other):
        return True
    def __lt__(self, other):
        return True
    def __contains__(self, item):
        return True
def run(a, b):
    return a == b, a < b, 1 in a
run(A(), A())
