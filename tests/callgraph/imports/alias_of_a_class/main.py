from pack import Thing as T
T().f()
