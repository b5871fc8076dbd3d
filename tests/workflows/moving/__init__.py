"""Tests of moving pictures."""
