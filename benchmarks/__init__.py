"""Speed, memory and accuracy of scarce against other support vector machine libraries."""
