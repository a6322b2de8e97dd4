"""What every picture is made on: colours by meaning, a sheet, parts, matplotlib and SVG."""
