"""Runs training programs on real Horovod and judges how they ran. See ../README.md."""
