-- May start and end a program, and nothing else; for the vectors.
return { wait_turn_matcher = function() return { type = "process_exited" } end }
