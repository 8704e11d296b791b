class A:
    def __neg__(self):
        return self
    def __len__(self):
        return 1
    def __str__(self):
        return ""
    def __enter__(self):
        return self
def run(a):
    -a
    len(a)
    str(a)
run(A())
