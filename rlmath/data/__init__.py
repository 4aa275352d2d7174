"""Data that ships with rlmath: the goal bank with oracle plans, recorded completions, four demo goals."""
