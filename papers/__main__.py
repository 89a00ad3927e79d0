"""`python -m papers`: run a paper's tables again and write the report."""

from papers._command import main

raise SystemExit(main())
