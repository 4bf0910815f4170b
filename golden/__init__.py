"""Questions with known answers: grading, calibration, reports."""
