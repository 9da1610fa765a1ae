"""The typed parameters: one class for each section of `params.yaml`, from which schema, page and stage files follow."""
