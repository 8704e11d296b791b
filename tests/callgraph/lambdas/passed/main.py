def f(x):
    return x
def apply(function, value):
    return function(value)
apply(lambda x: f(x), 1)
