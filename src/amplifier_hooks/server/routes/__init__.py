"""The routes of the API, and the page."""
