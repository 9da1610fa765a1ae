"""What the rules and the stage scripts share: parameters, the run table, stamps and files."""
