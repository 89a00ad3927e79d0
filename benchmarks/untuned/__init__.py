"""What a user who tunes nothing gets, beside what they would pick instead, on many tasks."""
