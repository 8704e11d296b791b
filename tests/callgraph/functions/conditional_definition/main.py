import sys
if sys.version_info > (3,):
    def f():
        pass
else:
    def f():
        pass
f()
