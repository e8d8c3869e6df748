# cmake -DSCRIPTS=<folder> -DHEADER=<header> -DARRAY=<name_text> -DOUT=<file.c> -P embed.cmake
#
# Writes the C array of script texts that the header declares. Element SCRIPT_<NAME> is <name>.lua,
# preceded by the files of shared/ that it needs. The texts are written as bytes, because compilers
# need not accept long string literals. ARRAY is the name in the header: queue_script_text has
# SCRIPT_<NAME> and SCRIPT_COUNT, any other <room>_script_text has <ROOM>_SCRIPT_<NAME> and
# <ROOM>_SCRIPT_COUNT.
string(REGEX REPLACE "_text$" "_" prefix ${ARRAY})
string(TOUPPER "${prefix}" prefix)
string(REGEX REPLACE "^QUEUE_" "" prefix "${prefix}")
file(GLOB files ${SCRIPTS}/*.lua)
set(texts "")
set(rows "")
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME_WE)
  string(TOUPPER ${name} upper)
  set(bytes "")
  file(STRINGS ${file} needs REGEX "^-- needs: ")
  string(REPLACE "-- needs: " "" needs "${needs}")
  string(REPLACE " " ";" needs "${needs}")
  list(TRANSFORM needs REPLACE "(.+)" "${SCRIPTS}/shared/\\1.lua")
  foreach(piece IN LISTS needs file)
    file(READ ${piece} hex HEX)
    string(APPEND bytes "${hex}")
  endforeach()
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(APPEND texts "static const char ${name}_text[] = {${bytes}0};\n")
  string(APPEND rows "    [${prefix}${upper}] = ${name}_text,\n")
endforeach()
file(WRITE ${OUT} "#include \"${HEADER}\"\n\n${texts}\n"
  "const char *const ${ARRAY}[${prefix}COUNT] = {\n${rows}};\n")
