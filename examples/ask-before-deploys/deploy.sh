#!/bin/sh
echo "deployed to $1"
