"""Robots' files as people write them, with what `export --into` has to leave alone."""

ARM = """<?xml version='1.0' ?>
<!-- An arm: every comment stays -->
<robot name="arm">
  <material name="grey"><color rgba=".5 .5 .5 1"/></material>
  <link name="base"/>
  <link   name = "upper">
    <visual> <geometry><mesh filename="package://arm/upper.stl"/></geometry> </visual>
    <inertial>
      <origin rpy='0.1 0.2 0.3' xyz="0.1 0.02 0.03" />   <!-- by CAD -->
      <mass value="2.5"/>
      <inertia ixx="0.02" ixy="0.001" ixz="0" iyy="0.03" iyz="0.002" izz="0.025"/>
    </inertial>
  </link>
  <link name="fore">
    <inertial><mass value="1.5"/>
      <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.012" iyz="0" izz="0.011"/></inertial>
  </link>
  <link name="tool">
    <inertial><origin xyz="0 0 0.05"/><mass value="0.5"/>
      <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.001"/></inertial>
  </link>
  <link name="bare"/>
  <joint name="shoulder" type="revolute">
    <origin xyz="0 0 0.4" rpy="0.3 0 0"/>
    <parent link="base"/><child link="upper"/>
    <axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="1" velocity="1"/>
    <dynamics damping="0.1"/>
  </joint>
  <joint name="elbow" type="continuous">
    <parent link="upper"/><child link="fore"/>
    <origin xyz="0.3 0 0.01"/>
  </joint>
  <joint name="grip" type="fixed">
    <parent link="fore"/><child link="tool"/><origin xyz="0 0.2 0" rpy="0 0.5 0"/>
  </joint>
  <joint name="slide" type="prismatic"><parent link="tool"/><child link="bare"/>
    <axis xyz="0 0 2"/><limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
  <transmission name="t"><type>x</type><joint name="shoulder"/></transmission>
</robot>
"""

CRANE = """<mujoco model="crane">
  <!-- angles in degrees, masses from shapes -->
  <compiler angle="degree" autolimits="true"/>
  <default><joint damping="0.05"/><geom density="900"/></default>
  <worldbody>
    <light pos="0 0 3"/>
    <geom type="plane" size="1 1 .1"/>
    <body name="mast" pos="0 0 0.5" euler="0 0 30">
      <joint name="slew" axis="0 0 1" range="-170 170"/>
      <geom type="capsule" fromto="0 0 -.4 0 0 .4" size=".05"/>
      <body name="jib" pos="0.05 0 0.4">
        <joint name="luff" axis="0 1 0" pos="0.01 0 0"/>
        <inertial pos="0.3 0 0.01" euler="10 20 0" mass="3" diaginertia="0.05 0.2 0.2"/>
        <geom type="box" size=".3 .03 .03" pos="0.3 0 0"/>
        <body pos="0.6 0 0">
          <geom type="sphere" size="0.04" pos="0 0 -0.1"/>
        </body>
        <body name="hook" pos="0.6 0 -0.2" quat="0.9 0.1 0.3 0">
          <joint name="reel" type="slide" axis="0 0 -1"/>
          <geom type="sphere" size="0.05"/>
          <site name="tip" pos="0 0 -0.05"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="slew"/><motor joint="luff"/></actuator>
</mujoco>
"""

SWING = """<?xml version="1.0"?>
<sdf version="1.9">
  <world name="w"><gravity>0 0 -9.81</gravity>
  <model name="swing">
    <pose>1 2 0.5 0 0 0.25</pose>
    <link name="beam">
      <pose>0.0 0 1   0.1 0 0</pose>  <!-- hangs -->
      <inertial><pose>0.2 0 0 0 0 0.3</pose><mass>2</mass>
        <inertia><ixx>0.02</ixx><iyy>0.03</iyy><izz>0.04</izz></inertia></inertial>
      <visual name="v"><geometry><box><size>1 1 1</size></box></geometry></visual>
    </link>
    <link name="seat"><pose relative_to="beam">0.4 0 0 0 0 0</pose></link>
    <joint name="hinge" type="revolute"><parent>world</parent><child>beam</child>
      <axis><xyz>0 1 0</xyz><dynamics><damping>0.2</damping></dynamics></axis></joint>
    <joint name="pivot" type="revolute"><pose>0 0.02 0 0 0 0</pose>
      <parent>beam</parent><child>seat</child><axis><xyz>1 1 0</xyz></axis></joint>
  </model></world>
</sdf>
"""

#: A spatial four-bar by spheres, cut at its end: the way of closing it is put in.
LINKAGE = """<robot name="linkage">
  <link name="ground"/>
  <link name="crank"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
  <link name="rod"><inertial><origin xyz="0.3 0 0"/><mass value="2"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.05" iyz="0" izz="0.05"/></inertial></link>
  <link name="rocker"><inertial><origin xyz="0.2 0 0"/><mass value="1.5"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.03"/></inertial></link>
  <joint name="A" type="continuous"><parent link="ground"/><child link="crank"/>
    <origin xyz="0 0 0" rpy="0 0 0.6"/><axis xyz="0 0 1"/></joint>
  <joint name="B" type="continuous"><parent link="crank"/><child link="rod"/>
    <origin xyz="0.2 0 0" rpy="0 0 -0.3"/><axis xyz="0 0 1"/></joint>
  <joint name="D" type="continuous"><parent link="ground"/><child link="rocker"/>
    <origin xyz="0.7 0 0" rpy="0 0 1.7"/><axis xyz="0 0 1"/></joint>
  {more}
</robot>
"""
CLOSING = {
    "loop": """<!-- URDF+ -->
  <loop name="C" type="continuous">
    <predecessor link="rod"><origin xyz="0.6 0 0"/></predecessor>
    <successor link="rocker"><origin xyz="0.4 0 0"/></successor><axis xyz="0 0 1"/></loop>""",
    "loop_joint": """<loop_joint name="C" type="revolute"><link1 link="rod" xyz="0.6 0 0"/>
    <link2 link="rocker" xyz="0.4 0 0" rpy="0 0 0"/><axis xyz="0 0 1"/></loop_joint>""",
    "constraint": """<constraint name="C" type="revolute">
    <parent link="rod"/><parent_origin xyz="0.6 0 0"/><parent_axis xyz="0 0 1"/>
    <child link="rocker"/><child_origin xyz="0.4 0 0"/><child_axis xyz="0 0 1"/></constraint>""",
    "robot.yaml": """<link name="end1"/><link name="end2"/>
  <joint name="C1" type="fixed"><parent link="rod"/><child link="end1"/>
    <origin xyz="0.6 0 0" rpy="0 0 0"/></joint>
  <joint name="C2" type="fixed"><parent link="rocker"/><child link="end2"/>
    <origin xyz="0.4 0 0" rpy="0 0 0"/></joint>""",
}
COMPANION = "closed_loop: [[C1, C2]]\ntype: [3d]\nname_mot: [A]\n"
