import a
a.f(2)
