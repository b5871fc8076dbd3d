"""The site: pages, blocks of code, the theme's offline search."""
