"""The tables and figures of the papers that rbdgen stands on, beside ours."""
