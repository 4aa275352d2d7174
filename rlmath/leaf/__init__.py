"""Leaf provers: what turns one lemma statement into proof attempts."""
