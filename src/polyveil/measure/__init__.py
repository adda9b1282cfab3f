"""Measures of a release: what it lost, and how likely its rows are to be re-identified."""

from polyveil.measure.boxes import Boxes, class_boxes, released_boxes
from polyveil.measure.distortion import weighted_hierarchical_distance
from polyveil.measure.loss import Loss, loss_of_boxes, measure_loss
from polyveil.measure.metrics import METRICS, Metric
from polyveil.measure.risk import HIGH_RISK, Risk, RiskOfRows, measure_risk, population_sizes

__all__ = [
    "HIGH_RISK",
    "METRICS",
    "Boxes",
    "Loss",
    "Metric",
    "Risk",
    "RiskOfRows",
    "class_boxes",
    "loss_of_boxes",
    "measure_loss",
    "measure_risk",
    "population_sizes",
    "released_boxes",
    "weighted_hierarchical_distance",
]
