"""Programs other than Verilog, each from a table by operation and a template."""
