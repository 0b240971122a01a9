"""Methods: names, capabilities, hyper-parameter grids and recipes (`catalog`), and the learners behind them."""
