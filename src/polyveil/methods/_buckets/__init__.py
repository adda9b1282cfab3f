"""The engine behind the bucket methods and `sloms`."""
