"""The offline analyst: answers questions about tables without a language model.

A turn reads the conversation (`conversation`), has the files profiled in the sandbox (`guest/inspection`, `profile`),
reads the question against the profile's columns (`question`, `conditions`, `columns`), decides what to compute
(`planning`, `follow_up`), writes the pandas program for it (`intents/`), and words the answer from the numbers that the
program printed (`answer`). `analyst` decides the next step of a turn; `model` is the chat model that the loop drives.
"""
