#!/bin/sh
# Adds -l to an `ls`. The caller has checked that the command holds nothing JSON would escape, so
# what stands between the quotes is the text itself.
sed -nE 's/.*"(cmd|command)":"ls([^"\\]*)".*/{"hook_specific_output":{"updated_input":{"\1":"ls -l\2"}}}/p'
