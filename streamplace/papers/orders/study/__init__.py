"""The study of traversal orders: in which order should a policy visit the operators of a graph?"""
